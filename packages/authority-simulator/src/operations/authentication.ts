import { groupOf, textOf } from '@ecf/domain';
import {
  type Answer,
  type Call,
  documentHandler,
  type Handler,
  HTML_REFUSAL,
  sentenceAnswer,
  textAnswer,
} from '../http/call.js';
import { mayLogIn } from '../ledger/taxpayer-register.js';
import type { Simulation } from '../simulation.js';
import { readSigned, signerOf } from '../verdicts/signed-document.js';
import { seedDate, tokenDate } from '../wire-dates.js';

const XML = 'application/xml; charset=utf-8';

type Login = Pick<Simulation, 'seeds' | 'tokens' | 'taxpayers' | 'signatures' | 'clock' | 'newId'>;

/** A seed, written over several lines as the authority does. */
export function giveSeed({ seeds, clock }: Pick<Simulation, 'seeds' | 'clock'>): Handler {
  return ({ env }) => textAnswer(200, seedXml(seeds.issue(env, clock()), clock()), XML);
}

function seedXml(value: string, now: Date): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <valor>${value}</valor>
  <fecha>${seedDate(now)}</fecha>
</SemillaModel>`;
}

/** A signed seed for a token. Refusals are a bare JSON string, or HTML if the body is not a document. */
export function validateSeed(login: Login): Handler {
  return documentHandler(HTML_REFUSAL, (call, { bytes }) => logIn(login, call, bytes));
}

function logIn({ seeds, tokens, taxpayers, signatures, clock, newId }: Login, { env }: Call, bytes: Buffer): Answer {
  const now = clock();
  const document = readSigned(bytes, now);
  if (!document) return HTML_REFUSAL;
  const value = textOf(groupOf(document.tree, 'SemillaModel'), 'valor');
  const signer = signerOf(document, signatures);
  if (!signer) return sentenceAnswer(400, 'Firma del certificado invalida');
  if (value === null || !seeds.redeem(env, value.trim(), now)) {
    return sentenceAnswer(400, 'La semilla no es válida o ha expirado.');
  }
  if (!mayLogIn(taxpayers, signer.holder)) {
    const sentence = `El RNC ${signer.holder} del certificado no está delegado para realizar transaciones.`;
    return sentenceAnswer(400, sentence);
  }
  return tokenAnswer(tokens.issue(env, signer.holder, newId(), now));
}

function tokenAnswer({ token, issuedAt, expiresAt }: ReturnType<Simulation['tokens']['issue']>): Answer {
  const value = { token, expira: tokenDate(expiresAt), expedido: tokenDate(issuedAt) };
  return { status: 200, body: { root: 'RespuestaAutenticacion', value } };
}
