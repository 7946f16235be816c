# Two images from one file: `web` (pages and API, no PyTorch) and `worker` (computes; one per GPU).
# docker-compose.yml puts them together with Postgres.

FROM python:3.11-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist . \
 && python docker/web_requirements.py > /dist/web-requirements.txt \
 && cp constraints.txt /dist/

FROM python:3.11-slim AS base
RUN useradd --uid 1000 --create-home headscope && install -d -o headscope -g headscope /data
ENV HEADSCOPE_DATA_DIR=/data PYTHONUNBUFFERED=1 WANDB_MODE=disabled
VOLUME /data

FROM base AS web
COPY --from=build /dist /dist
RUN pip install --no-cache-dir -c /dist/constraints.txt -r /dist/web-requirements.txt \
 && pip install --no-cache-dir --no-deps /dist/*.whl
USER headscope
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
CMD ["headscope", "serve", "--host", "0.0.0.0", "--port", "8000", "--no-worker"]

FROM base AS worker
# Where PyTorch comes from. PyPI's Linux build brings CUDA (about 3 GB); without a GPU, build with
# --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG TORCH_INDEX=
COPY --from=build /dist /dist
RUN pip install --no-cache-dir -c /dist/constraints.txt ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} \
    "$(echo /dist/*.whl)[postgres]"
USER headscope
CMD ["headscope", "worker", "--host", "0.0.0.0"]
