# lib-nginx.sh - what the tests share that record nginx with its Lua module; sourced, not run.
#
# In Debian 12 the module needs OpenResty's LuaJIT, whose package conflicts with the LuaJIT that
# this binding builds for. So `make deps` unpacks it, and the module, into $B/nginx.
#
# SPDX-License-Identifier: MIT

. "$(dirname "$0")/lib-real.sh"
NGINX_ROOT=$B/nginx
[ -d "$NGINX_ROOT/usr" ] || NGINX_ROOT=
modules=usr/lib/nginx/modules
library=$(find "$B/nginx" -name 'libluajit-5.1.so.2' 2>/dev/null | head -n 1)
library=${library%/*}
needs jit nginx-light /usr/sbin/nginx
needs jit libnginx-mod-http-ndk "$NGINX_ROOT/$modules/ndk_http_module.so"
needs jit libnginx-mod-http-lua "$NGINX_ROOT/$modules/ngx_http_lua_module.so"
needs jit curl /usr/bin/curl

# Standard input is of the block http.
nginx_conf() # DIRECTIVES
{
    mkdir "$SCRATCH/temp"
    cat >"$SCRATCH/nginx.conf" <<CONF
load_module $NGINX_ROOT/$modules/ndk_http_module.so;
load_module $NGINX_ROOT/$modules/ngx_http_lua_module.so;
daemon off;
user root;
error_log stderr error;
pid $SCRATCH/pid;
$1
events { worker_connections 16; }
http {
  access_log off;
  client_body_temp_path $SCRATCH/temp/1;
  proxy_temp_path $SCRATCH/temp/2;
  fastcgi_temp_path $SCRATCH/temp/3;
  uwsgi_temp_path $SCRATCH/temp/4;
  scgi_temp_path $SCRATCH/temp/5;
  lua_package_path "$NGINX_ROOT/usr/share/lua/5.1/?.lua;;";
  init_by_lua_block { turn = dofile("$SCRIPTS/turns.lua") }
$(cat)
}
CONF
}

# With `&`, its process is $!.
nginx_serving()
{
    LD_LIBRARY_PATH=${library:-/usr/lib} serving nginx -e stderr -p "$SCRATCH" \
        -c "$SCRATCH/nginx.conf"
}
