export {
  createBudgets,
  type BudgetCheck,
  type BudgetReport,
  type Budgets,
  type BudgetsDeps,
  type BudgetState,
  type Caller,
  type UsageSource,
} from "./budgets.ts";
export { scopeText, usedText } from "./messages.ts";
