import http from "node:http";

// An identity provider and a mail service without delay. The code is the access token, and the token is the user's id.
const json = { "content-type": "application/json" };

async function read(request: http.IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}

async function answer(request: http.IncomingMessage): Promise<object> {
  const body = await read(request);
  switch (request.url) {
    case "/userinfo":
      return { sub: request.headers.authorization?.slice("Bearer ".length) };
    case "/email":
      return { ErrorCode: 0 };
    default:
      return { access_token: new URLSearchParams(body).get("code"), token_type: "Bearer" };
  }
}

http
  .createServer(async (request, response) => {
    const body = JSON.stringify(await answer(request));
    response.writeHead(200, json).end(body);
  })
  .listen(Number(process.env.PORT), () => console.error("provider listens"));
