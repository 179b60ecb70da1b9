# The service: docker build -t mate-tf . && docker run -p 7860:7860 mate-tf
#
# Most of the image is TensorFlow, which answers the questions and which pyproject.toml requires. It is
# left out once answers need none: then install the wheel by `pip install --no-deps`, and what
# answers by name.
FROM python:3.11-slim AS build
WORKDIR /build
COPY setup.py pyproject.toml README.md ./
COPY configs configs
COPY models models
COPY mate_tf mate_tf
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/mate_tf-*.whl)[serve]" \
    && rm -r /wheels \
    && useradd --create-home --uid 10001 mate
USER 10001
WORKDIR /home/mate
ENV PYTHONUNBUFFERED=1
EXPOSE 7860
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:7860/healthz')"]
ENTRYPOINT ["mate-tf"]
CMD ["serve", "--host=0.0.0.0"]
