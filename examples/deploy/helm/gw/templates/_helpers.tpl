{{- define "gw.name" -}}
{{- if contains "gw" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-gw" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "gw.selector" -}}
app.kubernetes.io/name: gw
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gw.labels" -}}
{{ include "gw.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gw.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest }}{{ $image.repository }}@{{ $image.digest }}{{ else }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end -}}

{{- define "gw.maxReplicas" -}}
{{- if .Values.autoscaling.enabled }}{{ .Values.autoscaling.maxReplicas }}{{ else }}{{ .Values.replicas }}{{ end -}}
{{- end -}}

{{- define "gw.configMap" -}}
{{- if .Values.existingConfigMap }}{{ .Values.existingConfigMap }}{{ else if .Values.config }}{{ include "gw.name" . }}{{ end -}}
{{- end -}}

{{/* Milliseconds of a duration such as 1h30m15s. What is not one stops the install: HV05. */}}
{{- define "gw.milliseconds" -}}
{{- $text := toString .text -}}
{{- if not (regexMatch "^([0-9]+(ms|s|m|h))+$" $text) -}}
{{- fail (printf "HV05: %s is %q, which is not a duration such as 90s or 10m" .name $text) -}}
{{- end -}}
{{- $sum := 0 -}}
{{- range $part := regexFindAll "[0-9]+(ms|s|m|h)" $text -1 -}}
{{- $unit := regexFind "(ms|s|m|h)$" $part -}}
{{- $number := regexFind "^[0-9]+" $part | atoi -}}
{{- $sum = add $sum (mul $number (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) $unit)) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* Seconds between SIGTERM and SIGKILL: delay, timeout, and 15 for what is written at the end. */}}
{{- define "gw.grace" -}}
{{- $delay := include "gw.milliseconds" (dict "name" "drain.delay" "text" .Values.drain.delay) | int64 -}}
{{- $timeout := include "gw.milliseconds" (dict "name" "drain.timeout" "text" .Values.drain.timeout) | int64 -}}
{{- $sum := add $delay $timeout -}}
{{- if gt $sum 3600000 }}{{ fail "HV05: drain.delay and drain.timeout are more than 1h together" }}{{ end -}}
{{- add (div (add $sum 999) 1000) 15 -}}
{{- end -}}
