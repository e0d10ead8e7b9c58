export const cancellations = {
  title: 'Anulaciones',
};
