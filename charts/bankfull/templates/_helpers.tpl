{{- define "bankfull.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "bankfull.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "bankfull.selector" -}}
app.kubernetes.io/name: {{ include "bankfull.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bankfull.labels" -}}
{{ include "bankfull.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "bankfull.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{- define "bankfull.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "bankfull.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "bankfull.audience" -}}
{{- .Values.sidecar.audience | default (printf "bankfull.%s.%s" .Release.Name .Release.Namespace) -}}
{{- end -}}

{{- define "bankfull.collectorUrl" -}}
{{- .Values.sidecar.collectorUrl | default (printf "wss://%s.%s.svc:8480/agent" (include "bankfull.fullname" .) .Release.Namespace) -}}
{{- end -}}

{{- define "bankfull.tlsNames" -}}
{{- $name := include "bankfull.fullname" . -}}
{{- $names := list (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s" $name .Release.Namespace) $name (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) "localhost" "127.0.0.1" -}}
{{- join "," (concat $names .Values.tls.extraNames) -}}
{{- end -}}

{{/* Who may speak for other pods than its own. */}}
{{- define "bankfull.nodeAgents" -}}
{{- $all := .Values.collector.nodeAgents -}}
{{- if .Values.node.enabled }}{{ $all = prepend $all (printf "%s/%s-node" .Release.Namespace (include "bankfull.fullname" .)) }}{{ end -}}
{{- join "," $all -}}
{{- end -}}

{{/* own: an authority of ours; secret: what stands in a Secret with tls.crt and tls.key. */}}
{{- define "bankfull.tlsMode" -}}
{{- if or .Values.tls.existingSecret .Values.tls.certManager.enabled -}}secret{{- else -}}own{{- end -}}
{{- end -}}

{{- define "bankfull.tlsSecret" -}}
{{- .Values.tls.existingSecret | default (printf "%s-tls" (include "bankfull.fullname" .)) -}}
{{- end -}}

{{/* What PodSecurity `restricted` wants of a container. */}}
{{- define "bankfull.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What cannot work is refused at once, with a sentence. */}}
{{- define "bankfull.validate" -}}
{{- if not .Values.tls.enabled }}{{ fail "tls.enabled=false: agents show a token, which is not sent in the clear. Leave it on; it needs no other product" }}{{ end -}}
{{- if ne (int .Values.collector.replicas) 1 }}{{ fail "collector.replicas: the collector keeps one SQLite file and runs once" }}{{ end -}}
{{- if and .Values.tls.existingSecret .Values.tls.certManager.enabled }}{{ fail "tls.existingSecret and tls.certManager.enabled exclude each other" }}{{ end -}}
{{- if and .Values.tls.certManager.enabled (not .Values.tls.certManager.issuerRef.name) }}{{ fail "tls.certManager.enabled needs tls.certManager.issuerRef.name" }}{{ end -}}
{{- if and .Values.ingress.enabled (not .Values.viewers.existingSecret) }}{{ fail "ingress.enabled needs viewers.existingSecret: without it the dashboard listens on the pod's loopback alone" }}{{ end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.enabled needs ingress.host" }}{{ end -}}
{{- if and .Values.persistence.existingClaim (not .Values.persistence.enabled) }}{{ fail "persistence.existingClaim is given and persistence.enabled is false" }}{{ end -}}
{{- if and (eq (include "bankfull.tlsMode" .) "secret") .Values.injection.enabled (not .Values.tls.ca) }}{{ fail "injection with a certificate of your own needs its authority: set tls.ca (PEM), or injection.enabled=false" }}{{ end -}}
{{- if and .Values.rbac.namespaces (not (or .Values.rbac.events .Values.rbac.pods)) }}{{ fail "rbac.namespaces is where rbac.events and rbac.pods hold, and neither is set" }}{{ end -}}
{{- if and (eq (include "bankfull.tlsMode" .) "secret") .Values.node.enabled (not .Values.tls.ca) }}{{ fail "node.enabled with a certificate of your own needs its authority: set tls.ca (PEM)" }}{{ end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) }}{{ fail "serviceAccount.create=false needs serviceAccount.name" }}{{ end -}}
{{- end -}}
