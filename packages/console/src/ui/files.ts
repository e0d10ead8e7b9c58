/** Saves bytes under a name, as a download. */
export function save(name: string, content: Blob | string): void {
  follow(content, (link) => {
    link.download = name;
  });
}

/** Shows a file, for example a PDF, in a new tab. */
export function show(content: Blob): void {
  follow(content, (link) => {
    link.target = '_blank';
  });
}

function follow(content: Blob | string, describe: (link: HTMLAnchorElement) => void): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(typeof content === 'string' ? new Blob([content]) : content);
  describe(link);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
