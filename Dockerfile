# The interpreter of the records (Python 3.11) with the packages of the lock file:
#   docker build -t afterply . && docker run --rm -it afterply          (or: ... afterply ./reproduce.sh)
FROM python:3.11-bookworm
WORKDIR /afterply
COPY . .
RUN make setup ENGINES=no
ENV ENGINES=no
CMD ["./reproduce.sh", "min"]
