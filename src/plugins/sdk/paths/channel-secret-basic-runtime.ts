export {
  collectConditionalChannelFieldAssignments,
  collectSecretInputAssignment,
  createChannelSecretTargetRegistryEntries,
  createSimpleChannelSecretContract,
  getChannelRecord,
  getChannelSurface,
  hasOwnProperty,
  normalizeSecretStringValue,
} from "../newer/secret-contract.ts";
