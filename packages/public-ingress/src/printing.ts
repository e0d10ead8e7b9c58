import { ApiError } from '@ecf/kit';
import { createPrinter, PrintError, type PrintRequest } from '@ecf/printed-form';

export interface Printing {
  /**
   * The printed form of a stored e-CF. 409 `not_printable` if it cannot have one; 503 with Retry-After if the renderer stopped or too
   * many documents wait, in all or of the owner; 500 if the page could not be made, which is an error of the gateway or of the logo.
   */
  print(request: PrintRequest): Promise<Buffer>;
  close(): void;
}

/** Prints stored documents in a process that the first document starts. */
export function openPrinting(printer = createPrinter()): Printing {
  return {
    async print(request) {
      try {
        const { buffer, byteOffset, length } = await printer.print(request);
        return Buffer.from(buffer, byteOffset, length);
      } catch (error) {
        throw error instanceof PrintError ? apiError(error) : error;
      }
    },
    close: printer.close,
  };
}

function apiError(cause: PrintError): ApiError {
  if (cause.code === 'not_printable') return new ApiError(409, 'not_printable', cause.message, { cause });
  if (cause.code === 'layout_failed') return new ApiError(500, 'internal_error', cause.message, { cause });
  // The connection is closed; this only ends the request.
  if (cause.code === 'caller_left') return new ApiError(400, 'bad_request', cause.message, { cause });
  const code = cause.code === 'renderer_busy' ? 'overloaded' : 'service_unavailable';
  return new ApiError(503, code, `${cause.message} Repeat after Retry-After.`, {
    cause,
    headers: { 'retry-after': '5' },
  });
}
