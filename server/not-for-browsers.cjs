// What a browser gets of this folder: see `imports` in package.json.
module.exports = {};
