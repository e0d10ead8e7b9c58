import { useTranslations } from 'use-intl';
import type { FileProblem } from '../../data/batch-file.js';
import { useFormats } from '../../ui/format.js';

const SHOWN = 20;

/** Why a file is not a batch, and what to do. */
export function FileProblems({ problems }: { problems: readonly FileProblem[] }) {
  const words = useTranslations('batches.problems');
  const sentence = useSentence();
  const more = problems.length - SHOWN;
  return (
    <section className="messages" role="alert">
      <h2>{words('title')}</h2>
      <ul>
        {problems.slice(0, SHOWN).map((problem) => (
          <li key={JSON.stringify(problem)}>{sentence(problem)}</li>
        ))}
      </ul>
      {more > 0 && <p>{words('more', { count: more })}</p>}
    </section>
  );
}

function useSentence(): (problem: FileProblem) => string {
  const words = useTranslations('batches.problems');
  const { number } = useFormats();
  return (problem) => {
    switch (problem.kind) {
      case 'columns':
        return (['missing', 'unknown', 'repeated'] as const)
          .filter((kind) => problem[kind].length > 0)
          .map((kind) => words(kind, { columns: problem[kind].join(', ') }))
          .join(' ');
      case 'documents':
        return words('documents', { count: number(problem.count) });
      default:
        return words(problem.kind, { ...problem });
    }
  };
}
