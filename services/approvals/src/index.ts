export { type Approvals, type ApprovalsOverrides, createApprovals } from './app.js';
export { type ApprovalsConfig, approvalsSettings, readApprovalsConfig } from './config.js';
export {
  type ApprovalValidationResult,
  type ValidateApprovalOptions,
  validateApproval,
} from './received/validate-approval.js';
