import { zxcvbn, zxcvbnOptions } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

zxcvbnOptions.setOptions({ dictionary, graphs: adjacencyGraphs });

/** From 0 (guessed at once) to 4 (hard to guess). Parts of the address and the brand's name do not add strength. */
export function strengthOf(password: string, email: string, brand: string): 0 | 1 | 2 | 3 | 4 {
  return zxcvbn(password, [email, ...email.split(/[@.]/), brand]).score;
}
