{{- define "strongroom.name" -}}
{{- if contains "strongroom" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-strongroom{{ end -}}
{{- end }}

{{- define "strongroom.selector" -}}
app.kubernetes.io/name: strongroom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "strongroom.labels" -}}
{{ include "strongroom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "strongroom.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag }}{{ end }}
{{- end }}

{{- define "strongroom.dataClaim" -}}
{{ .Values.embedded.persistence.existingClaim | default (printf "%s-data" (include "strongroom.name" .)) }}
{{- end }}

{{- define "strongroom.backupClaim" -}}
{{ .Values.backup.persistence.existingClaim | default (printf "%s-backups" (include "strongroom.name" .)) }}
{{- end }}

{{/* The settings of every pod. A root key that root owns is readable through the group, which has no other members. */}}
{{- define "strongroom.pod" -}}
serviceAccountName: {{ include "strongroom.name" . }}
automountServiceAccountToken: false
# Kubernetes would set STRONGROOM_PORT and others for a Service called strongroom, and the program would read them as settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "strongroom.container" -}}
image: {{ include "strongroom.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The store settings, which every command needs. A backup needs no root key and does not get one. */}}
{{- define "strongroom.storeEnv" -}}
- { name: STRONGROOM_PROFILE, value: {{ .Values.profile }} }
- { name: STRONGROOM_LOG_LEVEL, value: {{ .Values.logLevel }} }
{{- if eq .Values.profile "embedded" }}
# A directory inside the volume: the program creates it with access for itself only, and `restore` can replace it.
- { name: STRONGROOM_DATA, value: /var/lib/strongroom/vault }
{{- else }}
- { name: STRONGROOM_EVENTSTORE_URL_FILE, value: /run/strongroom/stores/eventstore_url }
- { name: STRONGROOM_MONGODB_URL_FILE, value: /run/strongroom/stores/mongodb_url }
- { name: STRONGROOM_MONGODB_KEYS_URL_FILE, value: /run/strongroom/stores/mongodb_keys_url }
- { name: STRONGROOM_REDIS_URL_FILE, value: /run/strongroom/stores/redis_url }
{{- if .Values.cluster.stores.privateCa }}
# The Redis URL cannot name a certificate authority.
- { name: NODE_EXTRA_CA_CERTS, value: /run/strongroom/stores/ca }
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "strongroom.rootKeyEnv" -}}
- { name: STRONGROOM_ROOT_KEY_FILE, value: /run/strongroom/root-key/root.key }
{{- if .Values.rootKey.nextExistingSecret }}
- { name: STRONGROOM_NEXT_ROOT_KEY_FILE, value: /run/strongroom/next-root-key/root.key }
{{- end }}
{{- end }}

{{- define "strongroom.rootKeyMount" -}}
- { name: root-key, mountPath: /run/strongroom/root-key, readOnly: true }
{{- if .Values.rootKey.nextExistingSecret }}
- { name: next-root-key, mountPath: /run/strongroom/next-root-key, readOnly: true }
{{- end }}
{{- end }}

{{/* Secrets are owned by root and readable only by the service's group (288 is 0440). */}}
{{- define "strongroom.rootKeyVolume" -}}
- name: root-key
  secret:
    secretName: {{ .Values.rootKey.existingSecret }}
    defaultMode: 288
    items: [{ key: {{ .Values.rootKey.key | quote }}, path: root.key }]
{{- with .Values.rootKey.nextExistingSecret }}
- name: next-root-key
  secret:
    secretName: {{ . }}
    defaultMode: 288
    items: [{ key: {{ $.Values.rootKey.key | quote }}, path: root.key }]
{{- end }}
{{- end }}

{{/* The variables and files that the settings of a process may need. Backups do not get them. */}}
{{- define "strongroom.extraEnv" -}}
{{- with .Values.extraEnv }}{{ toYaml . }}{{ end }}
{{- end }}

{{- define "strongroom.filesMount" -}}
{{- if .Values.files.existingSecret }}
- { name: files, mountPath: /run/strongroom/files, readOnly: true }
{{- end }}
{{- end }}

{{- define "strongroom.filesVolume" -}}
{{- with .Values.files.existingSecret }}
- name: files
  secret: { secretName: {{ . }}, defaultMode: 288 }
{{- end }}
{{- end }}

{{- define "strongroom.storeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if eq .Values.profile "embedded" }}
- { name: data, mountPath: /var/lib/strongroom }
{{- else }}
- { name: stores, mountPath: /run/strongroom/stores, readOnly: true }
{{- end }}
{{- end }}

{{/* The directory for temporary files of a process that serves requests. The console writes bundles there. */}}
{{- define "strongroom.temporaryVolume" -}}
- name: tmp
{{- with .Values.temporaryFiles }}
{{- if .storageClassName }}
  # Not an emptyDir on the node's disk: the pod would be evicted if it wrote more than the limit.
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ .storageClassName }}
        resources: { requests: { storage: {{ .size }} } }
{{- else }}
  emptyDir: { medium: Memory, sizeLimit: {{ .size }} }
{{- end }}
{{- end }}
{{- end }}

{{/* The directory for temporary files of a command, such as a backup. It can contain passwords, so it is in memory. */}}
{{- define "strongroom.memoryVolume" -}}
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 64Mi }
{{- end }}

{{- define "strongroom.storeVolumes" -}}
{{- if eq .Values.profile "embedded" }}
- name: data
  persistentVolumeClaim: { claimName: {{ include "strongroom.dataClaim" . }} }
{{- else }}
- name: stores
  secret: { secretName: {{ .Values.cluster.stores.existingSecret }}, defaultMode: 288 }
{{- end }}
{{- end }}

{{/* The pod of an API or worker process: context, component, role, resources. */}}
{{- define "strongroom.process" -}}
{{- $ := .context -}}
{{- $listens := ne .role "worker" -}}
metadata:
  labels:
    {{- include "strongroom.selector" $ | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $.Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with $.Values.podAnnotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "strongroom.pod" $ | nindent 2 }}
  # The delay, ten seconds for requests in progress, five seconds for closing the stores, and a reserve of five seconds.
  terminationGracePeriodSeconds: {{ add $.Values.shutdownDelaySeconds 20 }}
  {{- if eq $.Values.profile "cluster" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "strongroom.selector" $ | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
  {{- end }}
  {{- with $.Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: strongroom
      {{- include "strongroom.container" $ | nindent 6 }}
      args: [serve]
      env:
        {{- include "strongroom.storeEnv" $ | nindent 8 }}
        {{- include "strongroom.rootKeyEnv" $ | nindent 8 }}
        {{- include "strongroom.extraEnv" $ | nindent 8 }}
        {{- if eq $.Values.profile "cluster" }}
        - { name: STRONGROOM_ROLE, value: {{ .role }} }
        {{- end }}
        # Probes and Prometheus reach this listener in the pod network. A NetworkPolicy blocks other clients.
        - { name: STRONGROOM_ADMIN_HOST, value: 0.0.0.0 }
        - { name: STRONGROOM_ADMIN_PORT, value: "9464" }
        - { name: STRONGROOM_SHUTDOWN_DELAY_SECONDS, value: {{ $.Values.shutdownDelaySeconds | quote }} }
        {{- if $listens }}
        - { name: STRONGROOM_HOST, value: 0.0.0.0 }
        - { name: STRONGROOM_PORT, value: "8080" }
        {{- if $.Values.tls.existingSecret }}
        - { name: STRONGROOM_TLS_CERT, value: /run/strongroom/tls/tls.crt }
        - { name: STRONGROOM_TLS_KEY, value: /run/strongroom/tls/tls.key }
        {{- else }}
        - { name: STRONGROOM_BEHIND_TLS_PROXY, value: "true" }
        {{- end }}
        {{- if $.Values.console.enabled }}
        - { name: STRONGROOM_CONSOLE_ENABLED, value: "true" }
        {{- end }}
        {{- with $.Values.tls.trustedProxies }}
        - { name: STRONGROOM_HTTP_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
        {{- end }}
        {{- end }}
      ports:
        {{- if $listens }}
        - { name: api, containerPort: 8080 }
        {{- end }}
        - { name: admin, containerPort: 9464 }
      # After an import or a crash, a start may have up to ten minutes of checks to do.
      startupProbe:
        httpGet: { path: /health/live, port: admin }
        periodSeconds: 2
        failureThreshold: 300
      livenessProbe:
        httpGet: { path: /health/live, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /health/ready, port: admin }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      resources: {{ toYaml .resources | nindent 8 }}
      volumeMounts:
        {{- include "strongroom.storeMounts" $ | nindent 8 }}
        {{- include "strongroom.rootKeyMount" $ | nindent 8 }}
        {{- include "strongroom.filesMount" $ | nindent 8 }}
        {{- if and $listens $.Values.tls.existingSecret }}
        - { name: tls, mountPath: /run/strongroom/tls, readOnly: true }
        {{- end }}
  volumes:
    {{- include "strongroom.temporaryVolume" $ | nindent 4 }}
    {{- include "strongroom.storeVolumes" $ | nindent 4 }}
    {{- include "strongroom.rootKeyVolume" $ | nindent 4 }}
    {{- include "strongroom.filesVolume" $ | nindent 4 }}
    {{- if and $listens $.Values.tls.existingSecret }}
    - name: tls
      secret: { secretName: {{ $.Values.tls.existingSecret }}, defaultMode: 288 }
    {{- end }}
{{- end }}
