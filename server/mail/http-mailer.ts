import * as z from "zod";
import { callJson } from "../calls/json-client";
import type { MailServiceConfig } from "../config";
import { CallError, MailRefused } from "../errors";
import type { MailService } from "../mail-services/service";
import { mailServices } from "../mail-services/services";
import type { Mailer } from "./mail";

/** The driver of a mail service with an HTTP API. Its `send` throws MailRefused or CallError. */
export function httpMailer({ driver, from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const mailService: MailService = mailServices[driver];
  const api = apiUrl ?? mailService.api;
  const { errorCode, answer, verify } = mailService;
  const headers = mailService.authorization(apiKey);
  return {
    async send(mail) {
      try {
        const { path, headers: more, ...body } = mailService.request(from, mail);
        await callJson(
          `${api}${path}`,
          { method: "POST", headers: { ...headers, ...more }, errorCode, ...body },
          answer,
        );
      } catch (error) {
        const refusal = error instanceof CallError && mailService.refusal(error);
        throw refusal ? new MailRefused(refusal) : error;
      }
    },
    async verify() {
      try {
        await callJson(`${api}${verify.path}`, { method: "GET", headers, errorCode }, z.unknown());
      } catch (error) {
        if (!verify.known || !(error instanceof CallError) || error.code !== verify.known) throw error;
      }
    },
  };
}
