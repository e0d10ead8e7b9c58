{{/* Labels that select the pods of a service. Argument: root, name. */}}
{{- define "ecf.selector" -}}
app.kubernetes.io/name: ecf-gateway
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "ecf.labels" -}}
{{ include "ecf.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* The image of a service: by digest, else by tag. */}}
{{- define "ecf.image" -}}
{{- $image := .root.Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end }}ecf-gateway/{{ .name }}
{{- with index $image.digest .name }}@{{ . }}{{ else }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* A setting from a Secret. Argument: setting, service (its values), values, optional. */}}
{{- define "ecf.secret" -}}
{{- $default := dict "name" .service.existingSecret "key" .setting -}}
{{- $source := index (merge (dict) .service.secrets .values.secrets) .setting | default $default -}}
- name: {{ .setting }}
  valueFrom: { secretKeyRef: { name: {{ $source.name }}, key: {{ $source.key }}, optional: {{ .optional }} } }
{{- end }}

{{/* What the pods of services and Jobs have in common. Argument: root. */}}
{{- define "ecf.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  {{- with .Values.files }}
  - name: files
    projected:
      sources: {{- toYaml . | nindent 8 }}
  {{- end }}
{{- end }}

{{- define "ecf.container" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if .Values.files }}
  - { name: files, mountPath: /etc/ecf, readOnly: true }
  {{- end }}
{{- end }}

{{/* A value as an environment variable has it: 10485760, not 1.048576e+07. */}}
{{- define "ecf.value" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}
