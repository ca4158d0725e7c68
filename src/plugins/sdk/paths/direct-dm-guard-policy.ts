export { createDirectDmPreCryptoGuardPolicy } from "../newer/pairing.ts";
