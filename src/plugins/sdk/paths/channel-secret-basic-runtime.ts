export {
  collectConditionalChannelFieldAssignments,
  collectSecretInputAssignment,
  createChannelSecretTargetRegistryEntries,
  createSimpleChannelSecretContract,
  getChannelRecord,
  getChannelSurface,
  hasOwnProperty,
  normalizeSecretStringValue,
} from "../config/secret-contract.ts";
