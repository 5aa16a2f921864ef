import type { ActionFunctionArgs } from "@remix-run/node";
import { Form, useActionData } from "@remix-run/react";
import { addJob } from "../database.server";

export async function action({ request }: ActionFunctionArgs) {
  const form = await request.formData();
  await addJob(String(form.get("email")));
  return { status: "sent" };
}

export default function ForgotPassword() {
  const answer = useActionData<typeof action>();
  return (
    <main>
      <h1>Reset your password</h1>
      {answer?.status === "sent" && <p>Look into your mailbox.</p>}
      <Form method="post">
        <input type="email" name="email" aria-label="Email" />
        <button type="submit">Send the link</button>
      </Form>
    </main>
  );
}
