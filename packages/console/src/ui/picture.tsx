import { useEffect, useRef, useState } from 'react';

interface PictureProps {
  file: Blob;
  /** What it shows, for people who do not see it. */
  label: string;
  /** Instead of a file that the browser cannot show. */
  unreadable: string;
}

/** Draws a picture that is in memory. The policy of the console lets pages load pictures from the gateway's addresses only. */
export function Picture({ file, label, unreadable }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [fails, setFails] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    setFails(false);
    createImageBitmap(file).then(
      (bitmap) => {
        if (isCurrent) draw(canvas.current, bitmap);
      },
      () => isCurrent && setFails(true),
    );
    return () => {
      isCurrent = false;
    };
  }, [file]);
  return (
    <>
      <canvas ref={canvas} className="picture" role="img" aria-label={label} hidden={fails} />
      {fails && <p className="quiet">{unreadable}</p>}
    </>
  );
}

function draw(canvas: HTMLCanvasElement | null, bitmap: ImageBitmap): void {
  if (canvas === null) return;
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
}
