import { createContext, useContext } from "react";

/** The CSP nonce of the page being rendered; the browser hides it from scripts, so it is empty there. */
export const NonceContext = createContext("");

export const useNonce = () => useContext(NonceContext);
