import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority } from "../support/certificates";
import { freePort } from "../support/server";
import { until } from "../support/until";
import { isRoot, runAsRoot, stranger, temporaryFolder } from "./host";

export type Postfix = Awaited<ReturnType<typeof startPostfix>>;

/** Each service of a Postfix that takes mail over SMTP and delivers it into mailboxes. */
function services(ports: { tls: number; plain: number }): string[] {
  return [
    `127.0.0.1:${ports.tls} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes`,
    `127.0.0.1:${ports.plain} inet n - n - - smtpd`,
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "proxymap unix - - n - - proxymap",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "rewrite unix - - n - - trivial-rewrite",
    ...["bounce", "defer", "trace"].map((name) => `${name} unix - - n - 0 bounce`),
    ...["error", "retry"].map((name) => `${name} unix - - n - - error`),
    "virtual unix - n n - - virtual",
    "anvil unix - - n - 1 anvil",
    "postlog unix-dgram n - n - 1 postlogd",
  ];
}

/** Debian's Postfix with a configuration, a queue and mailboxes in a folder of its own. Its master process is root. */
export async function startPostfix() {
  const { folder } = await temporaryFolder();
  const inFolder = (name: string) => join(folder, name);
  const [configuration, queue, data, mail] = [inFolder("etc"), inFolder("queue"), inFolder("data"), inFolder("mail")];
  const ports = { tls: await freePort(), plain: await freePort() };
  const authority = createAuthority();
  const { key, cert } = authority.sign("DNS:localhost");
  const owner = isRoot ? stranger : process.getuid?.(); // of the mailbox
  const settings = {
    compatibility_level: "3.6",
    queue_directory: queue,
    data_directory: data,
    maillog_file: inFolder("maillog"),
    maillog_file_prefixes: folder,
    myhostname: "localhost",
    mydestination: "",
    alias_maps: "",
    alias_database: "",
    inet_interfaces: "127.0.0.1",
    inet_protocols: "ipv4",
    smtpd_relay_restrictions: "permit_mynetworks, reject",
    mynetworks: "127.0.0.0/8",
    default_transport: "error:no mail leaves this machine",
    virtual_mailbox_domains: "example.com",
    virtual_mailbox_base: mail,
    virtual_mailbox_maps: "static:mailbox/",
    virtual_uid_maps: `static:${owner}`,
    virtual_gid_maps: "static:65534",
    virtual_minimum_uid: "1",
    smtpd_tls_cert_file: join(folder, "cert.pem"),
    smtpd_tls_key_file: join(folder, "key.pem"),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  for (const path of [configuration, queue, data, mail]) await mkdir(path);
  await writeFile(join(folder, "etc/main.cf"), `${lines.join("\n")}\n`);
  await writeFile(join(folder, "etc/master.cf"), `${services(ports).join("\n")}\n`);
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key, { mode: 0o600 });
  const prepare = `
    chown postfix ${data}
    chown ${owner} ${mail}
    chown root ${configuration} ${configuration}/* ${queue} ${folder}/key.pem`;
  const path = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
  runAsRoot(prepare, path);
  runAsRoot(`postfix -c ${configuration} start >/dev/null 2>&1`, path);

  const newMail = join(folder, "mail/mailbox/new");
  const read = new Set<string>();
  return {
    tlsUrl: `smtps://localhost:${ports.tls}`,
    plainUrl: `smtp://127.0.0.1:${ports.plain}`,
    /** The file with the certificate of the authority that signed the server's certificate. */
    caFile: join(folder, "ca.pem"),
    /** Resolves with a message of the mailbox that it has not returned before, or with the next one that arrives. */
    async nextMessage() {
      // The names do not order the messages of one second: a second is followed by an inode number.
      const unread = async () => (await readdir(newMail).catch(() => [])).find((name) => !read.has(name));
      await until(async () => (await unread()) !== undefined, "a mail in the mailbox");
      const name = (await unread()) ?? "";
      read.add(name);
      return readFile(join(newMail, name), "utf8");
    },
    async stop() {
      runAsRoot(`postfix -c ${configuration} stop >/dev/null 2>&1`, path);
      runAsRoot(`rm -r ${folder}`, path);
    },
  };
}
