# The service: docker build -t mate-tf . && docker run -p 7860:7860 mate-tf
#
# Answers do not need TensorFlow, so the wheel comes without what pyproject.toml requires, and
# requirements-answers.txt names what it takes.
FROM python:3.11-slim AS build
WORKDIR /build
COPY setup.py pyproject.toml README.md ./
COPY configs configs
COPY models models
COPY mate_tf mate_tf
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY requirements-answers.txt /wheels/
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir -r /wheels/requirements-answers.txt \
    && pip install --no-cache-dir --no-deps /wheels/mate_tf-*.whl \
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
