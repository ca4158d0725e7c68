export {
  adaptScopedAccountAccessor,
  createScopedChannelConfigAdapter as createHybridChannelConfigAdapter,
  createScopedChannelConfigAdapter,
  createScopedDmSecurityResolver,
  createTopLevelChannelConfigAdapter,
  formatTrimmedAllowFromEntries,
  mapAllowFromEntries,
  resolveOptionalConfigString,
} from "../newer/config-adapters.ts";
