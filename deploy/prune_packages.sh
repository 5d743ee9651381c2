#!/bin/sh
# Remove from an environment what the portal never reads: ./prune_packages.sh .venv
# docs/dependencies.md lists what this saves in the image. tests/deploy/test_image.py checks that the rest is enough.
set -eu
cd "$1"/lib/python3*/site-packages

# The packages' own tests.
find . -type d \( -name tests -o -name SelfTest \) -prune -exec rm -r {} +

# The sources of translations, and translations into languages that are not in the portal's LANGUAGES.
find . -path '*/locale/*/LC_MESSAGES/*.po' -delete
find . -path '*/locale/*/LC_MESSAGES/*.mo' \
    ! -path '*/locale/en/*' ! -path '*/locale/es/*' ! -path '*/locale/pt/*' -delete

# AWS services other than the bucket and those that its credentials can come from.
find botocore/data -mindepth 1 -maxdepth 1 -type d \
    ! -name s3 ! -name sts ! -name sso ! -name sso-oidc -exec rm -r {} +

# The API's viewer that django-ninja brings. The portal has its own.
rm -r ninja/static

# Debug symbols. If there is a folder NAME.libs, auditwheel has rearranged the package's files, and `strip` breaks them.
for package in *; do
    if [ ! -d "${package%.libs}.libs" ]; then
        find "$package" -type f -name '*.so' -exec strip --strip-unneeded {} +
    fi
done
