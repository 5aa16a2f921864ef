import latchkey from "../../remix.config.js";

const { serverModuleFormat, serverPlatform, future } = latchkey;

/** @type {import('@remix-run/dev').AppConfig} */
export default { serverModuleFormat, serverPlatform, future };
