{{/*
The agent as a native sidecar, as `bankfull inject` adds it. In the pod's spec of another chart, with this one as a dependency:

    {{- $bankfull := dict "workload" .Release.Name "container" "app" "collector" "wss://bankfull.bankfull.svc:8480/agent"
          "audience" "bankfull.bankfull.bankfull" "caConfigMap" "bankfull-ca" "user" 1000 "group" 1000 "limit" true }}
    shareProcessNamespace: true
    initContainers:
      {{- include "bankfull.sidecar" $bankfull | nindent 6 }}
    volumes:
      {{- include "bankfull.sidecar.volumes" $bankfull | nindent 6 }}

image, container and workload are needed. labels: of the pod, as a map, passed on with its QoS class. podLimit: the pod's own memory limit, in bytes or Ki, Mi, Gi. collector, audience: where to, and for whom the token is made. caConfigMap: one of the
pod's namespace with ca.crt; or caPem: its text. user, group: those of the container. limit: it has a memory limit. guaranteed: its
pod is. cpu, memory: requests.
*/}}
{{- define "bankfull.sidecar" -}}
{{- range list "image" "container" "workload" }}{{ if not (index $ .) }}{{ fail (printf "bankfull.sidecar: %s is not given" .) }}{{ end }}{{ end -}}
{{- if and .collector (not .audience) }}{{ fail "bankfull.sidecar: collector without audience" }}{{ end -}}
{{- if ne (hasKey . "user") (hasKey . "group") }}{{ fail "bankfull.sidecar: user and group go together: the kernel shows a process to one of the same two alone" }}{{ end -}}
{{- if and (hasKey . "user") (eq (int (default 1 .user)) 0) }}{{ fail "bankfull.sidecar: user 0: run the container as another one" }}{{ end -}}
{{- $cpu := .cpu | default (ternary "250m" "50m" (default false .guaranteed)) -}}
- name: bankfull
  image: {{ .image | quote }}
  imagePullPolicy: IfNotPresent
  restartPolicy: Always
  args:
  - agent
  env:
  {{- if .collector }}
  - name: BANKFULL_COLLECTOR
    value: {{ .collector | quote }}
  - name: BANKFULL_TOKEN_FILE
    value: "/var/run/secrets/bankfull.io/token"
  {{- if .caConfigMap }}
  - name: BANKFULL_CA_PEM
    valueFrom:
      configMapKeyRef:
        name: {{ .caConfigMap }}
        key: ca.crt
  {{- else if .caPem }}
  - name: BANKFULL_CA_PEM
    value: {{ .caPem | quote }}
  {{- end }}
  {{- end }}
  - name: BANKFULL_STATE_DIR
    value: "/var/lib/bankfull"
  - name: BANKFULL_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  - name: BANKFULL_WORKLOAD
    value: {{ .workload | quote }}
  - name: BANKFULL_POD
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: BANKFULL_POD_UID
    valueFrom:
      fieldRef:
        fieldPath: metadata.uid
  - name: BANKFULL_NODE
    valueFrom:
      fieldRef:
        fieldPath: spec.nodeName
  - name: BANKFULL_CONTAINER
    value: {{ .container | quote }}
  {{- $told := list }}
  {{- range $key, $value := .labels }}{{ $told = append $told (printf "%s=%s" $key $value) }}{{ end }}
  - name: BANKFULL_LABELS
    value: {{ append $told (printf "qos=%s" (ternary "Guaranteed" "Burstable" (default false .guaranteed))) | join "," | quote }}
  {{- if .limit }}
  - name: BANKFULL_LIMIT
    valueFrom:
      resourceFieldRef:
        containerName: {{ .container | quote }}
        resource: limits.memory
  {{- end }}
  {{- if .podLimit }}
  - name: BANKFULL_POD_LIMIT
    value: {{ .podLimit | quote }}
  {{- end }}
  ports:
  - name: bankfull
    containerPort: 9482
  resources:
    requests:
      cpu: {{ $cpu }}
      memory: {{ .memory | default "64Mi" }}
    limits:
      {{- if .guaranteed }}
      cpu: {{ $cpu }}
      {{- end }}
      memory: {{ .memory | default "64Mi" }}
  securityContext:
    {{- if hasKey . "user" }}
    runAsUser: {{ int .user }}
    runAsGroup: {{ int .group }}
    {{- end }}
    runAsNonRoot: true
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop:
      - ALL
    seccompProfile:
      type: RuntimeDefault
  volumeMounts:
  - name: bankfull-state
    mountPath: /var/lib/bankfull
  {{- if .collector }}
  - name: bankfull-token
    mountPath: /var/run/secrets/bankfull.io
    readOnly: true
  {{- end }}
{{- end -}}

{{- define "bankfull.sidecar.volumes" -}}
- name: bankfull-state
  emptyDir:
    sizeLimit: 64Mi
{{- if .collector }}
- name: bankfull-token
  projected:
    sources:
    - serviceAccountToken:
        audience: {{ .audience | quote }}
        expirationSeconds: 3600
        path: token
{{- end }}
{{- end -}}
