export { createDirectDmPreCryptoGuardPolicy } from "../messages/pairing.ts";
