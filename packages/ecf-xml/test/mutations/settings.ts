/** A seed repeats a run; `MUTATIONS` is the number of mutated documents of each kind. */
export const MUTATION_SEED = Number(process.env.MUTATION_SEED ?? Date.now() % 1_000_000);
export const MUTATIONS = Number(process.env.MUTATIONS ?? 5_000);
