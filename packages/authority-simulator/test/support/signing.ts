import { createHash, createPrivateKey, createSign, createVerify } from 'node:crypto';
import { testKey } from '@ecf/test-support';
import { createCertificateAuthority, type IssuedCertificate } from '@ecf/xml-signing/certificate-authority';

const authority = createCertificateAuthority({ commonName: 'TEST CA', key: testKey(0) });
let shared: IssuedCertificate | null = null;

/** A certificate of a test authority. Authority and holders share one key, because creating keys is slow. */
export function certificate(
  holderId?: string,
  validity: { notBefore?: Date; notAfter?: Date } = {},
): IssuedCertificate {
  const issue = (id: string) =>
    authority.issue({
      commonName: 'PERSONA DE PRUEBA',
      holderId: id,
      password: 'x',
      key: createPrivateKey(authority.key),
      notBefore: validity.notBefore ?? new Date('2015-01-01T00:00:00Z'),
      notAfter: validity.notAfter ?? new Date('2045-01-01T00:00:00Z'),
    });
  if (holderId !== undefined) return issue(holderId);
  shared ??= issue('00112345673');
  return shared;
}

const XSI = 'xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';

/**
 * Signs a document by hand. It must be in canonical form: compact, without empty tags, with a root that declares xsd and xsi
 * in this order, or nothing.
 */
export function sign(xml: string, { key, pem }: IssuedCertificate): string {
  const digest = createHash('sha256').update(xml, 'utf8').digest('base64');
  const declared = xml.startsWith(`<${rootOf(xml)} ${XSI}>`) ? ` ${XSI}` : '';
  const content =
    '<CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"></CanonicalizationMethod>' +
    '<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>' +
    '<Reference URI=""><Transforms><Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></Transform></Transforms>' +
    '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod>' +
    `<DigestValue>${digest}</DigestValue></Reference>`;
  const canonical = `<SignedInfo xmlns="${DSIG}"${declared}>${content}</SignedInfo>`;
  const value = createSign('RSA-SHA256').update(canonical, 'utf8').sign(key, 'base64');
  const leaf = pem.replace(/-----[^-]+-----|\s/g, '');
  const signature =
    `<Signature xmlns="${DSIG}"><SignedInfo>${content}</SignedInfo><SignatureValue>${value}</SignatureValue>` +
    `<KeyInfo><X509Data><X509Certificate>${leaf}</X509Certificate></X509Data></KeyInfo></Signature>`;
  return xml.replace(/<\/\w+>$/, (end) => signature + end);
}

/** Whether an independently signed document verifies; it must be compact, with its signature last. */
export function verifies(xml: string): boolean {
  const body = xml.replace(/^<\?xml[^>]*\?>\s*/, '');
  const start = body.lastIndexOf('<Signature ');
  const end = body.lastIndexOf('</Signature>') + '</Signature>'.length;
  const unsigned = body.slice(0, start) + body.slice(end);
  const declared = body.startsWith(`<${rootOf(body)} ${XSI}>`) ? ` ${XSI}` : '';
  const info = /<SignedInfo[^>]*>([\s\S]*)<\/SignedInfo>/.exec(body)?.[1] ?? '';
  const full = info.replace(/<(\w+)([^<>]*)\/>/g, '<$1$2></$1>');
  const canonical = `<SignedInfo xmlns="${DSIG}"${declared}>${full}</SignedInfo>`;
  const digest = createHash('sha256').update(unsigned, 'utf8').digest('base64');
  const leaf = /<X509Certificate>([^<]+)</.exec(body)?.[1] ?? '';
  const pem = `-----BEGIN CERTIFICATE-----\n${leaf.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
  const value = /<SignatureValue>([^<]+)</.exec(body)?.[1] ?? '';
  return (
    full.includes(`<DigestValue>${digest}</DigestValue>`) &&
    createVerify('RSA-SHA256').update(canonical, 'utf8').verify(pem, value, 'base64')
  );
}

/** The first six characters of the signature value. */
export function codeOf(xml: string): string {
  return /<SignatureValue>([^<]{6})/.exec(xml)?.[1] ?? '';
}

function rootOf(xml: string): string {
  return /^<(\w+)/.exec(xml)?.[1] ?? '';
}

/** The namespace declarations of the authority's own documents. */
export function root(name: string, content: string): string {
  return `<${name} ${XSI}>${content}</${name}>`;
}
