import type { IncomingMessage } from 'node:http';
import { type BodyLimits, readBody } from '@ecf/http';
import { takeXmlPart } from './xml-part.js';

/** Reads a request and takes the XML document out of its body. Rejects with ApiError or XmlPartError. */
export async function readXmlDocument(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return takeXmlPart(await readBody(req, limits), req.headers['content-type']);
}
