# What .ci/run and .ci/release share: both source it in the root of the repository.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Runs a command where no program is found but Node, npm and a shell, whether by PATH or by a path of its own. Where this
# machine lets nobody mount, PATH alone hides them.
on_bare_node() {
  local bare=$work/bare program
  if [ ! -d "$bare" ]; then
    chmod 755 "$work"
    mkdir "$bare"
    for program in node sh env setpriv; do cp --dereference "$(command -v "$program")" "$bare"; done
    for program in npm npx; do
      printf '#!/bin/sh\nexec node "%s" "$@"\n' "$(readlink -f "$(command -v "$program")")" >"$bare/$program"
    done
    chmod 755 "$bare"/*
    cp --dereference "$(command -v mount)" "$work/mount"
  fi
  if as_root unshare --mount true 2>/dev/null; then
    as_root unshare --mount sh -euc '
      work=$1 user=$2 group=$3 home=$4
      shift 4
      for folder in /usr/local/sbin /usr/local/bin /usr/lib/postgresql /sbin /bin /usr/sbin /usr/bin; do
        [ ! -d "$folder" ] || "$work/mount" --bind "$work/bare" "$folder"
      done
      exec setpriv --reuid="$user" --regid="$group" --clear-groups env HOME="$home" PATH="$work/bare" "$@"
    ' sh "$work" "$(id -u)" "$(id -g)" "$HOME" "$@"
  else
    echo "Nothing can be mounted: programs are hidden by PATH alone."
    env PATH="$bare" "$@"
  fi
}

install_missing() {
  local packages policy=/usr/sbin/policy-rc.d written=
  mapfile -t packages < <(npx tsx tests/support/programs.ts)
  [ -n "${packages[*]}" ] || return 0
  if [ ! -e "$policy" ]; then
    # Debian's packages start their servers; the tests start their own, and nginx and Caddy want the same port.
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    written=yes
  fi
  echo 'postfix postfix/main_mailer_type select No configuration' | as_root debconf-set-selections
  as_root apt-get update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y "${packages[@]}"
  [ -z "$written" ] || as_root rm "$policy"
}

# The binary of a major version of Node: the running one, or one from npm.
node_of() {
  if [ "$(node -p 'process.versions.node.split(".")[0]')" = "$1" ]; then
    command -v node
  else
    npm install --prefix "$work/node-$1" --no-save --no-audit --no-fund "node@$1" >/dev/null
    echo "$work/node-$1/node_modules/node/bin/node"
  fi
}

# Runs one suite, whose command takes Vitest's options. Its counts go to a file of its own; the other suites run anyway.
failed=()
suite() {
  local name=$1
  shift
  echo "== $name"
  "$@" --reporter=default --reporter=./tests/support/slowest-files.ts --reporter=json --outputFile.json="$work/report-$name.json" || failed+=("$name")
}

# Prints each failure and the number of tests; fails when a suite failed.
report() {
  [ ${#failed[@]} = 0 ] || echo "Failed: ${failed[*]}"
  node .ci/report.js "$work"/report-*.json
  [ ${#failed[@]} = 0 ]
}
