# Adapts nginx.conf from the proxy's container to Debian: user, addresses, ports and paths.
1i user www-data;
s#web:8000#127.0.0.1:8001#
s#web2:8000#127.0.0.1:8002#
s#listen 8080#listen 80#
s#listen 8443#listen 443#
s#/state/data/#/var/lib/agon/data/#
s#/tmp/nginx\.pid#/run/nginx.pid#
s#/tmp/nginx-#/var/lib/nginx/agon-#
s#/etc/certificates/#/etc/agon/certificates/#
s#/etc/agon/pages/#/opt/agon/deploy/proxy/pages/#
s#/var/acme#/var/lib/agon/acme#
s#/dev/stdout#/var/log/nginx/agon.log#
