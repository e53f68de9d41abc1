// One pose goal of a robot, by the damped least squares of ../robot_solves.py on Pinocchio's kinematics, entirely in C++.
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/spatial.hpp>

#include <Eigen/Cholesky>
#include <random>
#include <string>

namespace {
struct Solver {
  pinocchio::Model model;
  pinocchio::Data data;
  pinocchio::FrameIndex frame;
  Eigen::VectorXd lower, upper, start, step, q;
  pinocchio::Data::Matrix6x of_frame, jacobian;
  double stop_m, stop_rad;
  int iterations, attempts;
  std::mt19937_64 random{4};
};
}  // namespace

extern "C" {
Solver* pose_make(const char* file, const char* frame, const double* lower, const double* upper, const double* start,
                  double stop_m, double stop_rad, int iterations, int attempts) {
  auto* s = new Solver;
  pinocchio::serialization::loadFromText(s->model, std::string(file));
  s->data = pinocchio::Data(s->model);
  s->frame = s->model.getFrameId(frame);
  s->lower = Eigen::Map<const Eigen::VectorXd>(lower, s->model.nq);
  s->upper = Eigen::Map<const Eigen::VectorXd>(upper, s->model.nq);
  s->start = Eigen::Map<const Eigen::VectorXd>(start, s->model.nq);
  s->step.setZero(s->model.nv);
  s->of_frame.setZero(6, s->model.nv);
  s->jacobian.setZero(6, s->model.nv);
  s->stop_m = stop_m;
  s->stop_rad = stop_rad;
  s->iterations = iterations;
  s->attempts = attempts;
  return s;
}

void pose_free(Solver* s) { delete s; }

// place: (3,) metres; turn: (4,) x, y, z, w; q_out: (nq,) is written; returns whether the goal is met.
int pose_solve(Solver* s, const double* place, const double* turn, double* q_out) {
  const Eigen::Map<const Eigen::Vector4d> coefficients(turn);
  const Eigen::Quaterniond wanted(coefficients);
  const pinocchio::SE3 goal(wanted.toRotationMatrix(), Eigen::Map<const Eigen::Vector3d>(place));
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  bool met = false;
  for (int attempt = 0; attempt < s->attempts && !met; ++attempt) {
    s->q = s->start;
    if (attempt > 0)
      for (Eigen::Index i = 0; i < s->q.size(); ++i)
        s->q[i] = s->lower[i] + unit(s->random) * (s->upper[i] - s->lower[i]);
    for (int iteration = 0; iteration < s->iterations; ++iteration) {
      pinocchio::computeJointJacobians(s->model, s->data, s->q);
      const pinocchio::SE3 error = pinocchio::updateFramePlacement(s->model, s->data, s->frame).actInv(goal);
      const auto vector = pinocchio::log6(error).toVector().eval();
      if (error.translation().norm() < s->stop_m && vector.tail<3>().norm() < s->stop_rad) {
        met = true;
        break;
      }
      s->of_frame.setZero();
      pinocchio::getFrameJacobian(s->model, s->data, s->frame, pinocchio::LOCAL, s->of_frame);
      pinocchio::Data::Matrix6 of_error;
      pinocchio::Jlog6(error.inverse(), of_error);
      s->jacobian.noalias() = of_error * s->of_frame;
      Eigen::Matrix<double, 6, 6> gram = s->jacobian * s->jacobian.transpose();
      gram.diagonal().array() += 1e-6 + 1e-3 * vector.squaredNorm();
      s->step.noalias() = s->jacobian.transpose() * gram.llt().solve(vector);
      s->q = pinocchio::integrate(s->model, s->q, s->step).cwiseMax(s->lower).cwiseMin(s->upper);
    }
  }
  Eigen::Map<Eigen::VectorXd>(q_out, s->model.nq) = s->q;
  return met;
}
}
