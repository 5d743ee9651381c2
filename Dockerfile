# One image for web, workers and beat. docker-compose.yml sets the command of each service.
FROM python:3.13.9-slim AS build
WORKDIR /agon
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
COPY run requirements-production.txt requirements-uv.txt requirements-parquet.txt deploy/prune_packages.sh ./
# Parts that make the image larger than 400 MB. Set a part's argument to 1 to include it.
ARG AGON_FIGURES
ARG AGON_PARQUET
RUN ./run setup --production && \
    if [ -n "$AGON_PARQUET" ]; then ./run setup --parquet; fi && \
    if [ -z "$AGON_FIGURES" ]; then .venv/bin/python -m pip uninstall --yes fonttools vl-convert-python; fi && \
    .venv/bin/python -m pip uninstall --yes uv pip && \
    ./prune_packages.sh .venv

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
# The services cannot write bytecode here, so without it they would compile the sources at every start.
RUN python -m compileall -q agon scoring portal && \
    AGON_STATE=/tmp/state AGON_STATIC=/agon/collected python manage.py collectstatic --noinput && rm -r /tmp/state
ARG AGON_REVISION
ENV AGON_REVISION=$AGON_REVISION AGON_STATE=/state
USER agon
