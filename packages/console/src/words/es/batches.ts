export const batches = {
  title: 'Lotes',
};
