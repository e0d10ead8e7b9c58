export { type Approvals, type ApprovalsOverrides, createApprovals } from './app.js';
export { type ApprovalsConfig, approvalsSettings, readApprovalsConfig } from './config.js';
export {
  type ApprovalJudgement,
  type JudgeApprovalOptions,
  judgeApproval,
} from './core/received/approval-judgement.js';
