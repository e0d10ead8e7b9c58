import type { NumberRange, RangeWithNumbers, ResolutionOperations } from '@ecf/contracts';

/** The ranges of an issuer with what is left of each; null where the deployment has no emission service. */
export type NumbersLeft = (issuerRnc: string, ranges: readonly NumberRange[]) => Promise<RangeWithNumbers[]>;

export function createNumbersLeft(emission: Pick<ResolutionOperations, 'numbersLeft'> | null): NumbersLeft {
  return async (issuer_rnc, ranges) => {
    const left = ranges.length === 0 ? undefined : await emission?.numbersLeft({ issuer_rnc, ranges: [...ranges] });
    const unknown = { next: null, remaining: null };
    return ranges.map((range, index) => ({ ...range, ...(left?.ranges[index] ?? unknown) }));
  };
}
