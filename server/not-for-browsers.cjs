// The browser's bundle gets this in place of server code: see `imports` in package.json.
module.exports = {};
