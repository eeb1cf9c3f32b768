#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What README.md shows is what the program prints.
exec "$(dirname "$0")/../../tools/readme-blocks"
