import { createContext, useContext } from "react";

/** The CSP nonce of the page that is rendered. Empty in the browser, which hides nonces from scripts. */
export const NonceContext = createContext("");

export const useNonce = () => useContext(NonceContext);
