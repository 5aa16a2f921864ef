import http from "node:http";

// An identity provider that answers at once: the code is the token, and the token is the user's id.
const json = { "content-type": "application/json" };

http
  .createServer((request, response) => {
    if (request.url === "/userinfo") {
      const sub = request.headers.authorization?.slice("Bearer ".length);
      return response.writeHead(200, json).end(JSON.stringify({ sub }));
    }
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const access_token = new URLSearchParams(body).get("code");
      response.writeHead(200, json).end(JSON.stringify({ access_token, token_type: "Bearer", ErrorCode: 0 }));
    });
  })
  .listen(Number(process.env.PORT), () => console.error("provider listens"));
