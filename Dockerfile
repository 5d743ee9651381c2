# One image for web, workers and beat. docker-compose.yml sets the command of each service.
FROM python:3.13.9-slim AS build
WORKDIR /agon
COPY run requirements.txt requirements-uv.txt ./
COPY scoring scoring
RUN ./run setup && .venv/bin/python -m pip uninstall --yes uv

FROM python:3.13.9-slim
WORKDIR /agon
ENV PATH=/agon/.venv/bin:$PATH PYTHONUNBUFFERED=1
RUN useradd --system --uid 10001 agon && install --directory --owner=agon /state /state/data /state/gold
COPY --from=build /agon/.venv .venv
COPY manage.py pyproject.toml README.md LICENSE ./
COPY agon agon
COPY scoring scoring
COPY portal portal
COPY tasks tasks
COPY templates templates
COPY locale locale
COPY static static
RUN AGON_STATE=/tmp/state AGON_STATIC=/agon/collected python manage.py collectstatic --noinput && rm -r /tmp/state
ARG AGON_REVISION
ENV AGON_REVISION=$AGON_REVISION AGON_STATE=/state
USER agon
