# `make image`. Three stages: build one wheel, install it beside locked dependencies, keep the result alone.
# `make image` pins the base by digest (BASE in the Makefile). This default is for builders that cannot pull it.
ARG PYTHON=docker.io/library/python:3.13-slim

FROM ${PYTHON} AS wheel
WORKDIR /src
RUN ["python", "-m", "venv", "/build"]
COPY requirements-build.txt ./
RUN ["/build/bin/pip", "install", "--quiet", "--no-cache-dir", "--require-hashes", "--requirement", "requirements-build.txt"]
COPY pyproject.toml README.md LICENSE ./
COPY ghcrawl ghcrawl
COPY processors processors
COPY queues queues
COPY stores stores
RUN ["/build/bin/pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", "/wheels", "."]

FROM ${PYTHON} AS environment
WORKDIR /src
# An environment without pip: what is in it is the locked dependencies and one wheel, which is all that an SBOM lists.
RUN ["python", "-m", "venv", "--without-pip", "/opt/ghcrawl"]
COPY requirements.txt ./
# Wheels only: nothing is compiled here, so there is no compiler to leave behind.
RUN ["python", "-m", "pip", "--python", "/opt/ghcrawl/bin/python", "install", "--quiet", "--no-cache-dir", \
     "--only-binary", ":all:", "--no-deps", "--require-hashes", "--requirement", "requirements.txt"]
COPY --from=wheel /wheels /wheels
RUN ["python", "-m", "pip", "--python", "/opt/ghcrawl/bin/python", "install", "--quiet", "--no-cache-dir", \
     "--no-deps", "--no-index", "--find-links", "/wheels", "ghcrawl"]
# Where an embedded file may live; a volume that is mounted there inherits the owner.
RUN ["install", "--directory", "--owner", "65532", "--group", "65532", "/data"]

FROM ${PYTHON}
ARG VERSION=0
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="ghcrawl" \
      org.opencontainers.image.description="A crawler of APIs: GitHub first" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=environment /opt/ghcrawl /opt/ghcrawl
COPY --from=environment --chown=65532:65532 /data /data
# A file and no variables, which would win over the file of an operator.
COPY config/image.toml /etc/ghcrawl/image.toml
# The root file system may be read-only: nothing is written outside /data, and that only with an embedded file.
ENV PATH=/opt/ghcrawl/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GHCRAWL_CONFIG=/etc/ghcrawl/image.toml
# Numeric, so that runAsNonRoot can be checked without a look into /etc/passwd.
USER 65532:65532
WORKDIR /data
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
# For `serve`, and where nothing else asks: Kubernetes has probes of its own and ignores this.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/opt/ghcrawl/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:9464/livez', timeout=4)"]
ENTRYPOINT ["/opt/ghcrawl/bin/ghcrawl"]
CMD ["serve"]
