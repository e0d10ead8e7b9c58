export const deliveries = {
  title: 'Entregas',
};
