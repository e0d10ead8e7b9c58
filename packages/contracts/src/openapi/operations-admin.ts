import { z } from 'zod';
import { certificateFactsSchema, numberRangeSchema } from '../events/taxpayer.js';
import {
  accountSchema,
  activeSchema,
  administratorSchema,
  apiKeySchema,
  changeApiKeySchema,
  createdAdministratorSchema,
  createdApiKeySchema,
  createdTaxpayerSchema,
  newAccountSchema,
  newAdministratorSchema,
  newApiKeySchema,
  newRangesSchema,
  newRunSchema,
  newTaxpayerSchema,
  rangeWithNumbersSchema,
  rotateApiKeySchema,
  rotatedApiKeySchema,
  startedRunSchema,
  taxpayerSchema,
} from '../http/admin.js';
import { auditPageSchema } from '../http/audit.js';
import { storedFilesPageSchema } from '../http/internal/archive.js';
import { deliveryNameSchema, deliveryPageSchema, deliverySchema } from '../http/internal/delivery.js';
import { rebuildStateSchema } from '../http/internal/internal.js';
import { masterKeyStateSchema } from '../http/internal/master-keys.js';
import {
  alarmedPageSchema,
  doubtfulCancellationSchema,
  doubtfulPageSchema,
  resolutionSchema,
  resolvedDocumentSchema,
  settlementSchema,
} from '../http/internal/resolution.js';
import {
  answerRulingSchema,
  approvalNameSchema,
  approvalSettlementSchema,
  ruledAnswerSchema,
  undecidedApprovalSchema,
  undecidedPageSchema,
} from '../http/internal/undecided-approval.js';
import {
  createdWebhookSchema,
  newWebhookSchema,
  webhookChangeSchema,
  webhookReplaySchema,
  webhookSchema,
  webhookSecretSchema,
  webhookTestSchema,
} from '../http/internal/webhook.js';
import type { AdminOperationId } from '../http/own-operations.js';
import { json, type OperationDescription } from './description.js';
import { EXAMPLES } from './examples.js';
import { PARAMETERS as P } from './parameters.js';

const PAGE = [P.adminLimit, P.adminOffset] as const;
const TAXPAYER = [P.accountId, P.rnc] as const;
const BODY = ['invalid_json', 'not_utf8', 'unsupported_media_type', 'validation_error'] as const;
/** The authority is queried while the caller waits. */
const QUERIES_AUTHORITY = [
  'login_refused',
  'authority_unreadable',
  'authority_unreachable',
  'certificate_missing',
] as const;
const DELIVERY_FILTER = [
  P.deliveryEnv,
  P.deliveryStatus,
  P.deliveryIssuer,
  P.deliveryBuyer,
  P.deliveryEncf,
  P.deliveryLimit,
  P.deliveryBefore,
] as const;
const WEBHOOK = EXAMPLES.webhook;
const ACTIVE = { required: true, content: json(activeSchema, { active: false }) };

export const ADMIN = {
  adminOpenApi: {
    tag: 'Administration',
    summary: 'This document',
    description: 'OpenAPI 3.1 of the administration.',
    answers: {
      200: {
        description: 'OpenAPI 3.1.',
        content: json({ type: 'object', additionalProperties: true }, { openapi: '3.1.0' }),
      },
    },
  },
  createAccount: {
    tag: 'Accounts',
    summary: 'Creates an account',
    description: 'An account is a customer with its taxpayers and API keys. Accounts do not see each other.',
    body: { required: true, content: json(newAccountSchema, { name: 'Palma' }) },
    answers: { 201: { description: 'The account.', content: json(accountSchema, EXAMPLES.account) } },
    errors: BODY,
  },
  listAccounts: {
    tag: 'Accounts',
    summary: 'Lists the accounts',
    description: 'Oldest first.',
    parameters: PAGE,
    answers: { 200: { description: 'The accounts.', content: json(z.array(accountSchema), [EXAMPLES.account]) } },
    errors: ['validation_error'],
  },
  findAccount: {
    tag: 'Accounts',
    summary: 'Returns one account',
    description: 'An account that is not active cannot make new calls.',
    parameters: [P.accountId],
    answers: { 200: { description: 'The account.', content: json(accountSchema, EXAMPLES.account) } },
    errors: ['not_found'],
  },
  setAccountActive: {
    tag: 'Accounts',
    summary: 'Activates or deactivates an account',
    description:
      'A deactivated account cannot call. Documents that are already signed are still sent, followed and delivered.',
    parameters: [P.accountId],
    body: ACTIVE,
    answers: { 200: { description: 'The account.', content: json(accountSchema, EXAMPLES.account) } },
    errors: [...BODY, 'not_found'],
  },
  createTaxpayer: {
    tag: 'Taxpayers',
    summary: 'Creates a taxpayer of an account',
    description: 'A taxpayer belongs to one account of the deployment. It can issue once a certificate is stored.',
    parameters: [P.accountId],
    body: {
      required: true,
      content: json(newTaxpayerSchema, { rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' }),
    },
    answers: {
      201: {
        description: 'The taxpayer.',
        content: json(createdTaxpayerSchema, { ...EXAMPLES.taxpayer, warnings: [] }),
      },
    },
    errors: [...BODY, 'not_found', 'taxpayer_taken'],
  },
  listTaxpayers: {
    tag: 'Taxpayers',
    summary: 'Lists the taxpayers of an account',
    description: 'Oldest first.',
    parameters: [P.accountId, ...PAGE],
    answers: { 200: { description: 'The taxpayers.', content: json(z.array(taxpayerSchema), [EXAMPLES.taxpayer]) } },
    errors: ['validation_error', 'not_found'],
  },
  findTaxpayer: {
    tag: 'Taxpayers',
    summary: 'Returns one taxpayer',
    description: 'With the facts of its certificate and its number ranges.',
    parameters: TAXPAYER,
    answers: { 200: { description: 'The taxpayer.', content: json(taxpayerSchema, EXAMPLES.taxpayer) } },
    errors: ['not_found'],
  },
  setTaxpayerActive: {
    tag: 'Taxpayers',
    summary: 'Activates or deactivates a taxpayer',
    description:
      'A taxpayer that is not active makes no new calls. Documents in progress are still followed to their end.',
    parameters: TAXPAYER,
    body: ACTIVE,
    answers: { 200: { description: 'The taxpayer.', content: json(taxpayerSchema, EXAMPLES.taxpayer) } },
    errors: [...BODY, 'not_found'],
  },
  putCertificate: {
    tag: 'Taxpayers',
    summary: 'Stores the certificate that signs for a taxpayer',
    description:
      'The file is opened with its password and stored sealed. It replaces the earlier one; documents in progress keep their signature.',
    parameters: TAXPAYER,
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['certificate', 'password'],
            properties: {
              certificate: { type: 'string', format: 'binary', description: 'PKCS#12 file (.p12, .pfx).' },
              password: { type: 'string', description: 'The password of the file.' },
            },
          },
          example: { certificate: '...', password: '...' },
        },
      },
    },
    answers: {
      200: {
        description: 'The facts of the certificate.',
        content: json(certificateFactsSchema, EXAMPLES.certificate),
      },
    },
    errors: ['unsupported_media_type', 'validation_error', 'not_found'],
  },
  findCertificate: {
    tag: 'Taxpayers',
    summary: 'Returns the facts of the stored certificate',
    description: 'The certificate itself cannot be read back.',
    parameters: TAXPAYER,
    answers: {
      200: {
        description: 'The facts of the certificate.',
        content: json(certificateFactsSchema, EXAMPLES.certificate),
      },
    },
    errors: ['not_found'],
  },
  putRanges: {
    tag: 'Taxpayers',
    summary: "Replaces the taxpayer's number ranges",
    description:
      'An empty list is 422 if it would remove ranges. A list without numbers that were used, cancelled or reserved is 409 `range_in_use` and names them. With `remove=true` both are accepted. An API key replaces the ranges of its environments only. Automatic numbers are taken from these ranges. Used numbers stay used, also if their range is removed.',
    parameters: [...TAXPAYER, P.removeRanges],
    body: { required: true, content: json(newRangesSchema, [EXAMPLES.range]) },
    answers: { 200: { description: 'The ranges.', content: json(z.array(numberRangeSchema), [EXAMPLES.range]) } },
    errors: [...BODY, 'not_found', 'range_in_use'],
  },
  findRanges: {
    tag: 'Taxpayers',
    summary: "Returns the taxpayer's number ranges, and what is left of each",
    description: '`next` is the next automatic number of the range.',
    parameters: TAXPAYER,
    answers: {
      200: {
        description: 'The ranges.',
        content: json(z.array(rangeWithNumbersSchema), [{ ...EXAMPLES.range, next: 'E310000000042', remaining: 959 }]),
      },
    },
    errors: ['not_found'],
  },
  startRun: {
    tag: 'Taxpayers',
    summary: 'Begins a certification run after the authority restarted the set',
    description:
      'For TesteCF and CerteCF. Every document of the taxpayer in that environment becomes part of the run before: it is kept, its number is free, and lists leave it out unless `superseded=true` asks for it. Automatic numbers begin again at the first of each range. Undecided documents are followed to their end; documents that were not sent are withdrawn.',
    parameters: TAXPAYER,
    body: { required: true, content: json(newRunSchema, EXAMPLES.newRun) },
    answers: { 201: { description: 'The run that began.', content: json(startedRunSchema, EXAMPLES.startedRun) } },
    errors: [...BODY, 'not_found', 'conflict', 'service_unavailable'],
  },
  createApiKey: {
    tag: 'API keys',
    summary: 'Creates an API key; only this answer shows it',
    description:
      'A key is for TesteCF and CerteCF or for eCF alone. `scopes` (default: all but `manage`) are `submit` (the submissions, /obtain_token), `cancel` (POST /anecf), `approve` (POST /acecf), `receive` (received documents, /arecf, GET /acecf, decisions of buyers), `read` (every other GET) and `manage` (the settings of the account under /account). `taxpayers` limits the key to these RNCs.',
    parameters: [P.accountId],
    body: {
      required: true,
      content: json(newApiKeySchema, EXAMPLES.newApiKey),
    },
    answers: { 201: { description: 'The key.', content: json(createdApiKeySchema, EXAMPLES.createdApiKey) } },
    errors: [...BODY, 'not_found'],
  },
  listApiKeys: {
    tag: 'API keys',
    summary: 'Lists the API keys of an account',
    description: 'Revoked and expired keys are listed too. The keys themselves are not shown.',
    parameters: [P.accountId, ...PAGE],
    answers: { 200: { description: 'The keys.', content: json(z.array(apiKeySchema), [EXAMPLES.apiKey]) } },
    errors: ['validation_error', 'not_found'],
  },
  findApiKey: {
    tag: 'API keys',
    summary: 'Returns one API key',
    description: 'The key itself is not shown.',
    parameters: [P.accountId, P.keyId],
    answers: { 200: { description: 'The key.', content: json(apiKeySchema, EXAMPLES.apiKey) } },
    errors: ['not_found'],
  },
  changeApiKey: {
    tag: 'API keys',
    summary: 'Changes the defaults of an API key',
    description: 'The rights of a key never change; make a new key for other rights.',
    parameters: [P.accountId, P.keyId],
    body: { required: true, content: json(changeApiKeySchema, { refuse_warnings: true }) },
    answers: {
      200: { description: 'The key.', content: json(apiKeySchema, { ...EXAMPLES.apiKey, refuse_warnings: true }) },
    },
    errors: [...BODY, 'not_found'],
  },
  revokeApiKey: {
    tag: 'API keys',
    summary: 'Revokes an API key immediately',
    description: 'Requests with the key are refused from now on. It cannot be undone.',
    parameters: [P.accountId, P.keyId],
    answers: { 204: { description: 'The key is revoked.' } },
    errors: ['not_found'],
  },
  rotateApiKey: {
    tag: 'API keys',
    summary: 'Replaces an API key by a new one with the same rights; only this answer shows it',
    description:
      'The old key works for `overlap_hours` more (0 to 720, default 24), so that its users can change over; 0 ends it immediately. The new key has its own id.',
    parameters: [P.accountId, P.keyId],
    body: { required: true, content: json(rotateApiKeySchema, { overlap_hours: 24 }) },
    answers: { 200: { description: 'The new key.', content: json(rotatedApiKeySchema, EXAMPLES.rotatedApiKey) } },
    errors: [...BODY, 'not_found', 'conflict'],
  },
  listAudit: {
    tag: 'Audit',
    summary: 'Lists what was done, oldest or newest first',
    description:
      'Each entry has `hash`: SHA-256 of `previous_hash` and the canonical JSON (RFC 8785) of the entry without `hash`, so a changed, missing or repeated entry shows. With `Accept: application/x-ndjson` the answer is all entries, one a line, without `limit`; that export needs the role `owner`.',
    parameters: [P.auditOrder, P.auditAfter, P.limit, P.auditActor, P.auditAction, P.auditTarget],
    answers: {
      200: {
        description: 'A page.',
        content: {
          ...json(auditPageSchema, EXAMPLES.auditPage),
          'application/x-ndjson': { schema: { type: 'string' }, example: JSON.stringify(EXAMPLES.auditEntry) },
        },
      },
    },
    errors: ['validation_error'],
  },
  createAdministrator: {
    tag: 'Administrators',
    summary: 'Creates an administrator; only this answer shows the token',
    description:
      'A `viewer` reads. An `operator` does everything but administrators, API keys and the export of the audit log. An `owner` does everything. No other administrator, deleted ones included, has the name.',
    body: { required: true, content: json(newAdministratorSchema, EXAMPLES.newAdministrator) },
    answers: {
      201: { description: 'The token.', content: json(createdAdministratorSchema, EXAMPLES.createdAdministrator) },
    },
    errors: [...BODY, 'conflict'],
  },
  listAdministrators: {
    tag: 'Administrators',
    summary: 'Lists the administrators, oldest first',
    description: 'The tokens are not shown.',
    parameters: PAGE,
    answers: {
      200: {
        description: 'The administrators.',
        content: json(z.array(administratorSchema), [EXAMPLES.administrator]),
      },
    },
    errors: ['validation_error'],
  },
  findAdministrator: {
    tag: 'Administrators',
    summary: 'Returns one administrator',
    description: 'The token is not shown.',
    parameters: [P.administratorId],
    answers: {
      200: { description: 'The administrator.', content: json(administratorSchema, EXAMPLES.administrator) },
    },
    errors: ['not_found'],
  },
  deleteAdministrator: {
    tag: 'Administrators',
    summary: 'Deletes an administrator immediately',
    description: 'Its token is refused from now on. The audit log keeps the name.',
    parameters: [P.administratorId],
    answers: { 204: { description: 'The token is invalid.' } },
    errors: ['not_found'],
  },
  listDeliveries: {
    tag: 'Deliveries',
    summary: 'Lists deliveries of issued e-CF to their buyers, newest first',
    description: 'For the question whether, and why not, a buyer has a document.',
    parameters: DELIVERY_FILTER,
    answers: { 200: { description: 'A page.', content: json(deliveryPageSchema, EXAMPLES.deliveryPage) } },
    errors: ['validation_error'],
  },
  retryDelivery: {
    tag: 'Deliveries',
    summary: 'Repeats a delivery immediately, with a new deadline',
    description: 'The same bytes are sent. A buyer that already acknowledged the document does not get it again (409).',
    body: { required: true, content: json(deliveryNameSchema, EXAMPLES.deliveryName) },
    answers: { 200: { description: 'The delivery.', content: json(deliverySchema, EXAMPLES.delivery) } },
    errors: [...BODY, 'not_found', 'conflict'],
  },
  listAlarmed: {
    tag: 'Documents',
    summary: 'Lists documents that need a decision of a person',
    description: 'The gateway cannot find out by itself whether the authority has these documents.',
    parameters: [P.deliveryEnv, P.deliveryIssuer, P.deliveryLimit, P.alarmedAfter],
    answers: { 200: { description: 'A page.', content: json(alarmedPageSchema, EXAMPLES.alarmedPage) } },
    errors: ['validation_error'],
  },
  resolveDocument: {
    tag: 'Documents',
    summary: 'Records the outcome of a document that the gateway cannot query',
    description:
      '`adopt` records the trackId under which the authority has the document. The gateway queries the authority first: a trackId of another number, or one that the authority does not have, is a conflict. `resend` sends the same bytes again, because the authority does not have the document.',
    body: { required: true, content: json(resolutionSchema, EXAMPLES.resolution) },
    answers: { 200: { description: 'The document.', content: json(resolvedDocumentSchema, EXAMPLES.resolved) } },
    errors: [...BODY, 'not_found', 'conflict', ...QUERIES_AUTHORITY],
  },
  listDoubtful: {
    tag: 'Cancellations',
    summary: 'Lists cancellations that need a person, or that a person settled',
    description: 'The gateway cannot find out by itself whether the authority annulled these numbers.',
    parameters: [P.deliveryEnv, P.deliveryIssuer, P.settled, P.doubtfulLimit, P.alarmedAfter],
    answers: { 200: { description: 'A page.', content: json(doubtfulPageSchema, EXAMPLES.doubtfulPage) } },
    errors: ['validation_error'],
  },
  settleCancellation: {
    tag: 'Cancellations',
    summary: 'Records the outcome of a cancellation that the gateway cannot query',
    description:
      '`accepted`: all numbers are annulled. `rejected`: no number is annulled, and all are free again. `partial`: all numbers except `refused` are annulled.',
    body: { required: true, content: json(settlementSchema, EXAMPLES.settlement) },
    answers: {
      200: { description: 'The cancellation.', content: json(doubtfulCancellationSchema, EXAMPLES.settled) },
    },
    errors: [...BODY, 'not_found', 'conflict'],
  },
  listUndecided: {
    tag: 'Approvals',
    summary:
      'Lists our approvals that the authority has not decided, that a person settled, or that did not reach their issuer',
    description: 'The gateway cannot find out by itself whether the authority has these approvals.',
    parameters: [P.deliveryEnv, P.deliveryIssuer, P.settled, P.undelivered, P.doubtfulLimit, P.alarmedAfter],
    answers: { 200: { description: 'A page.', content: json(undecidedPageSchema, EXAMPLES.undecidedPage) } },
    errors: ['validation_error'],
  },
  settleApproval: {
    tag: 'Approvals',
    summary: 'Records the outcome of an approval that the authority does not answer',
    description:
      '`accepted`: the authority has the approval. `rejected`: it does not, and a new decision about the e-CF is possible. The gateway does not send it to the authority again.',
    body: { required: true, content: json(approvalSettlementSchema, EXAMPLES.approvalSettlement) },
    answers: {
      200: { description: 'The approval.', content: json(undecidedApprovalSchema, EXAMPLES.settledApproval) },
    },
    errors: [...BODY, 'not_found', 'conflict'],
  },
  retryApproval: {
    tag: 'Approvals',
    summary: 'Sends an approval to its issuer immediately, with a new deadline',
    description: 'The approval must be the standing decision, and its issuer must not have it.',
    body: { required: true, content: json(approvalNameSchema, { id: 7 }) },
    answers: {
      200: { description: 'The approval.', content: json(undecidedApprovalSchema, EXAMPLES.retriedApproval) },
    },
    errors: [...BODY, 'not_found', 'conflict'],
  },
  decideApproval: {
    tag: 'Approvals',
    summary: "Decides whether a buyer's answer to an issued e-CF counts",
    description:
      'If it counts, it decides `approval_status` instead of the present one. If it does not, and no other answer counts, `approval_status` is `pending`. The reason is kept. `confirmed` stays as it is: it says whether the signer is known for the buyer.',
    parameters: [P.accountId, P.answerId],
    body: { required: true, content: json(answerRulingSchema, EXAMPLES.approvalRuling) },
    answers: { 200: { description: 'The answer.', content: json(ruledAnswerSchema, EXAMPLES.ruledAnswer) } },
    errors: [...BODY, 'not_found', 'service_unavailable'],
  },
  createWebhook: {
    tag: 'Webhooks',
    summary: "Creates a webhook: a receiver of the account's events; only this answer shows its secret",
    description:
      'It gets the events from now on. Without `types` it gets every type, without `environments` those of all three, or of those that the API key has. An account has at most 100 webhooks. Calls are signed as Standard Webhooks says.',
    parameters: [P.accountId],
    body: { required: true, content: json(newWebhookSchema, { url: WEBHOOK.url, types: WEBHOOK.types }) },
    answers: { 201: { description: 'The webhook.', content: json(createdWebhookSchema, EXAMPLES.createdWebhook) } },
    errors: [...BODY, 'not_found', 'conflict', 'service_unavailable'],
  },
  listWebhooks: {
    tag: 'Webhooks',
    summary: 'Lists the webhooks of an account',
    description: 'The secrets are not shown.',
    parameters: [P.accountId, P.limit, P.adminOffset],
    answers: { 200: { description: 'The webhooks.', content: json(z.array(webhookSchema), [WEBHOOK]) } },
    errors: ['validation_error', 'not_found', 'service_unavailable'],
  },
  findWebhook: {
    tag: 'Webhooks',
    summary: 'Returns one webhook',
    description: '`pending`, `dropped` and `failing_since` show whether the receiver works.',
    parameters: [P.accountId, P.webhookId],
    answers: { 200: { description: 'The webhook.', content: json(webhookSchema, WEBHOOK) } },
    errors: ['not_found', 'service_unavailable'],
  },
  changeWebhook: {
    tag: 'Webhooks',
    summary: 'Changes a webhook; what is left out stays',
    description:
      'A webhook that becomes inactive loses its waiting events and collects none. One that becomes active begins with the next event; a replay fills the gap.',
    parameters: [P.accountId, P.webhookId],
    body: { required: true, content: json(webhookChangeSchema, { active: true }) },
    answers: { 200: { description: 'The webhook.', content: json(webhookSchema, WEBHOOK) } },
    errors: [...BODY, 'not_found', 'service_unavailable'],
  },
  deleteWebhook: {
    tag: 'Webhooks',
    summary: 'Deletes a webhook and its waiting events',
    description: 'Its events stay in the feed, GET /events.',
    parameters: [P.accountId, P.webhookId],
    answers: { 204: { description: 'The webhook is deleted.' } },
    errors: ['not_found', 'service_unavailable'],
  },
  rotateWebhook: {
    tag: 'Webhooks',
    summary: 'Gives a webhook a new secret; only this answer shows it',
    description: 'For 24 hours the former secret signs too: `webhook-signature` then has both signatures.',
    parameters: [P.accountId, P.webhookId],
    answers: {
      200: {
        description: 'The new secret.',
        content: json(webhookSecretSchema, { secret: EXAMPLES.createdWebhook.secret }),
      },
    },
    errors: ['not_found', 'service_unavailable'],
  },
  replayWebhook: {
    tag: 'Webhooks',
    summary: 'Delivers the events after an event of the feed again',
    description:
      'For a receiver that lost events. Each event keeps its id, so the receiver can see which ones it already has.',
    parameters: [P.accountId, P.webhookId],
    body: { required: true, content: json(webhookReplaySchema, { after: '1-5c0f31aa' }) },
    answers: { 202: { description: 'The events will be delivered.', content: json(z.looseObject({}), {}) } },
    errors: [...BODY, 'not_found', 'conflict', 'event_expired', 'unknown_event', 'service_unavailable'],
  },
  testWebhook: {
    tag: 'Webhooks',
    summary: 'Calls the receiver once with an event of the type `webhook.test`',
    description: 'The answer has the status of the receiver, or why it did not answer.',
    parameters: [P.accountId, P.webhookId],
    answers: {
      200: {
        description: 'The answer of the receiver; `status` is null if it gave none.',
        content: json(webhookTestSchema, { status: 204, duration_ms: 35, error: null }),
      },
    },
    errors: ['not_found', 'service_unavailable'],
  },
  startRebuild: {
    tag: 'Read models',
    summary: 'Rebuilds the read models from the data of their owners',
    description: 'The present read models answer queries until the new ones replace them.',
    answers: { 200: { description: 'The rebuild is running.', content: json(rebuildStateSchema, EXAMPLES.rebuild) } },
    errors: ['conflict'],
  },
  rebuildState: {
    tag: 'Read models',
    summary: 'Returns the state of the last rebuild',
    description: 'Reads are answered from the former read models until the new ones are complete.',
    answers: { 200: { description: 'The state.', content: json(rebuildStateSchema, EXAMPLES.rebuild) } },
  },
  masterKeyState: {
    tag: 'Master keys',
    summary: 'Shows what each service has sealed under older master keys, and which keys its instances have',
    description: 'Instances report every ten seconds, and count for half a minute.',
    answers: { 200: { description: 'The state.', content: json(masterKeyStateSchema, EXAMPLES.masterKeys) } },
    errors: ['service_unavailable'],
  },
  resealBlock: {
    tag: 'Master keys',
    summary: 'Seals a block of values in each service under the newest master key',
    description:
      'Repeat it until `older` is 0 everywhere, as `ecf keys reseal` does. It refuses with 409 while an instance seals with another key.',
    answers: {
      200: { description: 'The state after the block.', content: json(masterKeyStateSchema, EXAMPLES.masterKeys) },
    },
    errors: ['conflict', 'service_unavailable'],
  },
  storedFiles: {
    tag: 'Archive',
    summary: 'Lists the XML documents that a service has stored',
    description: 'For a comparison of the archive with the database: every file that must be there, with its checksum.',
    parameters: [P.archivingService, P.storedAfter, P.storedLimit],
    answers: { 200: { description: 'A page.', content: json(storedFilesPageSchema, EXAMPLES.storedFiles) } },
    errors: ['validation_error', 'not_found'],
  },
} as const satisfies Record<AdminOperationId, OperationDescription>;
