// Preloaded into the doctor: names of example.org are this machine, and its public ports are those in PUBLIC_PORTS, such
// as "443=8443,80=8080".
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const ports = Object.fromEntries(process.env.PUBLIC_PORTS.split(",").map((pair) => pair.split("=")));
const { connect } = net.Socket.prototype;
const { lookup } = dns;

net.Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  if (ports[options?.port]) options.port = Number(ports[options.port]);
  return Reflect.apply(connect, this, given);
};

dns.lookup = async (name, options) =>
  /(?:^|\.)example\.org$/.test(name) ? [{ address: "127.0.0.1", family: 4 }] : lookup(name, options);

syncBuiltinESMExports();
