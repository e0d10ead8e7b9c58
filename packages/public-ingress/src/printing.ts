import { ApiError } from '@ecf/kit';
import { createPrinter, PrintError, type PrintRequest } from '@ecf/printed-form';

export interface Printing {
  /**
   * The printed form of a stored e-CF. 409 `not_printable` if it cannot have one; 503 with Retry-After if the renderer stopped or too
   * many documents wait.
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
  const code = cause.code === 'renderer_busy' ? 'overloaded' : 'service_unavailable';
  return new ApiError(503, code, `${cause.message} Repeat after Retry-After.`, {
    cause,
    headers: { 'retry-after': '5' },
  });
}
