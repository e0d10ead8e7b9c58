export { type Logo, readLogo } from './logo.js';
export { createPrinter, PrintError, type Printer, type PrintFormat, type PrintRequest } from './printer.js';
export { qrPng, qrSvg } from './qr.js';
