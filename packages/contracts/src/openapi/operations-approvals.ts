import { z } from 'zod';
import { receivedAcknowledgementSchema } from '../http/acknowledgement.js';
import {
  approvalAnswersSchema,
  approvalListSchema,
  approvalReceiptSchema,
  approvalRequestSchema,
  approvalSchema,
  receivedApprovalSchema,
} from '../http/approval.js';
import { errorBodySchema } from '../http/error-body.js';
import type { OperationId } from '../http/operations.js';
import { json, type OperationDescription, xml } from './description.js';
import { ACECF_XML, ARECF_XML, EXAMPLES } from './examples.js';
import { PUBLIC_ROUTE, xmlPart } from './operations-reception.js';
import { PARAMETERS as P } from './parameters.js';

const APPROVAL = 'Commercial approval';
const ACKNOWLEDGEMENTS = 'Acknowledgements of buyers';

export const APPROVALS = {
  createApproval: {
    tag: APPROVAL,
    summary: 'Approves or rejects a received e-CF',
    description:
      'The gateway signs and stores the approval, then sends it to the authority and to the issuer. Each recipient has its own state. approval_datetime, invoice_date_issued and invoice_total_amount may be left out for an e-CF that was received here; for another one 422 names the fields that are needed. To send an approval that was only stored, repeat the request with submit_to_authority=true; it keeps its id.',
    parameters: [P.submit],
    body: { required: true, content: json(approvalRequestSchema, EXAMPLES.approvalRequest) },
    answers: {
      201: {
        description: 'The record, whatever the authority says.',
        content: json(approvalSchema, EXAMPLES.approval),
      },
    },
    errors: [
      'taxpayer_not_found',
      'not_found',
      'unsupported_media_type',
      'already_answered',
      'conflict',
      'login_refused',
      'authority_unreachable',
      'authority_unreadable',
      'certificate_missing',
      'certificate_expired',
      'certificate_not_yet_valid',
      'certificate_unusable',
    ],
  },
  listApprovals: {
    tag: APPROVAL,
    summary: 'Lists the decisions of a buyer, newest first',
    description: 'Decisions about received e-CF of one buyer of the account.',
    parameters: [P.receiverQuery, P.shortLimit, P.offset],
    answers: { 200: { description: 'The records.', content: json(approvalListSchema, [EXAMPLES.approval]) } },
    errors: ['taxpayer_not_found'],
  },
  findApproval: {
    tag: APPROVAL,
    summary: 'Returns one decision',
    description: 'The states at the authority and at the issuer change until both have answered.',
    hasEtag: true,
    parameters: [P.approvalId],
    answers: { 200: { description: 'The record.', content: json(approvalSchema, EXAMPLES.approval) } },
    errors: ['not_found'],
  },
  approvalXml: {
    tag: APPROVAL,
    summary: 'Returns the signed ACECF',
    description: 'It is the document that the authority and the issuer get.',
    hasEtag: true,
    parameters: [P.approvalId],
    answers: { 200: { description: 'The bytes as they were signed.', content: xml(ACECF_XML) } },
    errors: ['not_found', 'document_damaged'],
  },
  receiveApproval: {
    tag: 'Routes for other taxpayers',
    summary: "Receives a buyer's approval or rejection of an e-CF that was issued here",
    description: PUBLIC_ROUTE,
    parameters: [P.authorization],
    body: { required: true, content: xmlPart(ACECF_XML, 'The signed ACECF.') },
    answers: {
      200: { description: 'Accepted.', content: json(approvalReceiptSchema, EXAMPLES.approvalAccepted) },
      400: {
        description: 'Refused, with the reasons; or the request is not well-formed.',
        content: json(z.union([approvalReceiptSchema, errorBodySchema]), EXAMPLES.approvalRefused),
      },
    },
    errors: ['taxpayer_not_found', 'invalid_provider_token', 'unsupported_media_type', 'daily_bytes_used'],
  },
  findReceivedApproval: {
    tag: APPROVAL,
    summary: "Returns the buyer's decision about an issued e-CF",
    description: 'If several answers were received, the one that counts.',
    hasEtag: true,
    parameters: [P.encf, P.issuerQuery],
    answers: {
      200: {
        description: 'The decision; `pending` if there is none.',
        content: json(receivedApprovalSchema, EXAMPLES.receivedApproval),
      },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  listApprovalAnswers: {
    tag: APPROVAL,
    summary: 'Lists every answer (ACECF) that was received for an issued e-CF, oldest first',
    description:
      'A signature does not prove that its signer acts for the buyer. The first answer counts; that of a signer unknown for the buyer is unconfirmed until an answer of a known one replaces it. A known signer has signed an ARECF of this buyer to us, or an e-CF of the buyer that the authority confirmed. An operator can decide whether an answer counts.',
    parameters: [P.encf, P.issuerQuery],
    answers: {
      200: {
        description: 'The answers; at most a thousand.',
        content: json(approvalAnswersSchema, EXAMPLES.approvalAnswers),
      },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  listReceivedAcknowledgements: {
    tag: ACKNOWLEDGEMENTS,
    summary: 'Lists the ARECF that buyers returned, newest first',
    description: 'Answers that are not valid acknowledgements are listed too, with `valid` false.',
    parameters: [P.issuerQuery, P.encfQuery, P.receiptStatus, P.shortLimit, P.offset],
    answers: {
      200: {
        description: 'The acknowledgements.',
        content: json(z.array(receivedAcknowledgementSchema), [EXAMPLES.acknowledgement]),
      },
    },
    errors: ['taxpayer_not_found'],
  },
  findReceivedAcknowledgement: {
    tag: ACKNOWLEDGEMENTS,
    summary: 'Returns the valid ARECF of a number, else the latest one with its faults',
    description: 'If no valid one was received, `validation_error` says what is wrong with the latest.',
    hasEtag: true,
    parameters: [P.encf, P.issuerQuery],
    answers: {
      200: {
        description: 'The acknowledgement.',
        content: json(receivedAcknowledgementSchema, EXAMPLES.acknowledgement),
      },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  receivedAcknowledgementXml: {
    tag: ACKNOWLEDGEMENTS,
    summary: 'Returns the bytes that the buyer returned',
    description: 'Of the acknowledgement that the operation without /xml shows.',
    hasEtag: true,
    parameters: [P.encf, P.issuerQuery],
    answers: { 200: { description: 'The bytes as received.', content: xml(ARECF_XML) } },
    errors: ['not_found', 'taxpayer_not_found', 'document_damaged'],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
