export { type Logo, LogoError, readLogo } from '@ecf/logo';
export {
  createPrinter,
  PrintError,
  type PrintedLogo,
  type Printer,
  type PrinterOptions,
  type PrintFormat,
  type PrintRequest,
} from './printer.js';
export { qrPng, qrSvg } from './qr.js';
