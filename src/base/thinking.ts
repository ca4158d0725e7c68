/** How much a model may think before it answers, from nothing to the most. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
